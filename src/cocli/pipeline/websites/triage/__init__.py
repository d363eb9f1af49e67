"""What kind of website an address leads to, before anything on it is believed."""
