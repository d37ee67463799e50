"""`waybread doctor`: looks at everything that can be wrong around a daemon, and says what to do about it."""
