"""What is known about vendors and their models: data, and the look-ups that read it."""
