"""What a daemon needs, looked at: each module knows a part of it and answers with findings."""
