"""What clients send and get, exactly as it stands on the wire. Pure: one module for each subject."""
