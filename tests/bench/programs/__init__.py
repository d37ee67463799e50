"""Programs that the bench runs beside itself: the bare limit, the load, and the other way to call a tool."""
