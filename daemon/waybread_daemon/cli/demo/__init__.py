"""`waybread demo`: the main job on real files, with a daemon in a process of its own."""
