"""When something may be asked, agreed upon by all processes of a machine; what that costs a visit in time."""
