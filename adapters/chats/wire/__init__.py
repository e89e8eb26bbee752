"""What clients send and get, exactly as it stands on the wire. Pure: a module for each subject."""
