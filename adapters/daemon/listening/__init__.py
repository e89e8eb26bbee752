"""Files that say where daemons listen.

daemons        writes and reads them
certificates   tells of the certificate that a daemon shows, and believes no other
trusted_files  tells whether one of them may be believed
"""
