"""Tables that belong to chats: each goes with its chat, or says why not."""

# Table and column: why its rows are no reference to chats.
WITHOUT = {
    ("erasures", "root_id"): "it is the receipt, which names what is gone",
    ("debug_steps", "chat_id"): "a step goes with its run",
    ("spend_reservations", "chat_id"): "a call in flight, which goes with its process",
    ("deliveries", "root_id"): "it goes with its chat",
    ("debug_runs", "root_chat_id"): "it goes with its chat",
    ("debug_runs", "parent_chat_id"): "it goes with its chat",
    ("push_subscriptions", "watching_chat"): "for minutes, which a device looks at",
}
RESTRICTED = {("legal_holds", "root_id")}  # what is on hold cannot go


async def test_what_names_a_chat_goes_with_it(store):
    """A column of a new table is found here: let it refer to chats with ON DELETE CASCADE."""
    columns = await store.execute(
        "SELECT c.table_name, c.column_name FROM information_schema.columns c"
        " JOIN information_schema.tables t USING (table_schema, table_name)"
        " WHERE c.table_schema = current_schema() AND c.data_type = 'uuid'"
        " AND t.table_type = 'BASE TABLE'"
        " AND (c.column_name LIKE '%%chat%%' OR c.column_name = 'root_id')"
    )
    cascading = await store.execute(
        "SELECT r.relname, a.attname FROM pg_constraint k"
        " JOIN pg_class r ON r.oid = k.conrelid"
        " JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = k.conkey[1]"
        " WHERE k.contype = 'f' AND k.confrelid = 'chats'::regclass AND k.confdeltype = 'c'"
    )

    assert 15 < len(columns)
    assert set(WITHOUT) | RESTRICTED == set(columns) - set(cascading)
