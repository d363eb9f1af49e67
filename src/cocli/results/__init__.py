"""What people do with the result: company pages, exports, reports."""
