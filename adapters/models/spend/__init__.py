"""Spending on models: limits, what is set aside under them, what was spent, and stated prices.

all_routes    all routes about spending
limit_routes  the routes of limits and budgets
usage_routes  the routes of what was spent, and of stated prices
group_routes  the routes of groups
schemas       spending as JSON
health        facts about limits that an administrator should know
wiring        all of it, opened for a process
budgets       money for the calls of this process, and the actor that gives back what is left over
consenting    the tool by which a person lets a chat go on beyond a soft limit
usage         what was spent, by user, model, purpose, label and day
groups        groups of users
store         the stored limits and what is set aside under them
"""
