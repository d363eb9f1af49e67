"""What runs at the edge, in front of the dashboard's files: `guard.js` at CloudFront, `login.py` as a function."""
