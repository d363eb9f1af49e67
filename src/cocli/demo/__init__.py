"""The demo: a made-up town, and the main job on it, offline."""
