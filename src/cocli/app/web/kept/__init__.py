"""What the server of the dashboard keeps on this machine: tokens, webhooks, uploads, runs, and who did what."""
