"""A campaign that runs by itself: timers of machines, and the turn that only one of them takes."""
