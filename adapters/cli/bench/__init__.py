"""`promptcorner bench`: chats that all talk at once, and what their clients see.

command     reads the flags, and runs one row after the other
plan        describes a load, with its bounds and defaults                       (pure)
targets     finds the daemon, its model, and makes our provider known to it
starting    starts and ends the processes of a run
running     lets the driver do a row, and reads the gauges between its phases
gauges      read processor time, memory, and what a daemon tells of itself
processes/  are the driver, the provider, the floor, and the parent of the daemon
telling/    makes figures, tables, Markdown and SVG of what was seen             (pure)
"""
