"""Files that say where daemons listen.

daemons        writes and reads them
trusted_files  tells whether one of them may be believed
"""
