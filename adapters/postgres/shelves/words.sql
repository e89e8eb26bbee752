-- What is said, as words to search in. Messages of one chat are written under its lock, so what a
-- chat's words lack are the rows revised after the version that they were brought up to.

-- name: gather_words
-- Bring the words of the caller's roots, and of those that he may read, up to what is said; a few
-- chats at a time. How many were behind: when it is none, all words are there. Two that gather the
-- same meet in ON CONFLICT.
WITH visible AS (
    SELECT c.id, c.history_version FROM chats c
     WHERE c.owner_id = %(caller)s AND c.parent_id IS NULL
     UNION
    SELECT c.id, c.history_version FROM chats c JOIN chat_readers r ON r.chat_id = c.id
     WHERE r.subject_id IN (%(caller)s::uuid, (SELECT organization_id FROM deployment))
), behind AS MATERIALIZED (
    SELECT v.id, v.history_version, coalesce(w.history_version, 0) AS since
      FROM visible v LEFT JOIN chat_words w ON w.chat_id = v.id
     WHERE v.history_version > coalesce(w.history_version, 0)
     ORDER BY v.id
     LIMIT %(chats_max)s
), spoken AS (
    SELECT m.id, m.chat_id,
           left((SELECT string_agg(p ->> 'text', ' ')
                   FROM json_array_elements(m.content) AS p
                  WHERE p ->> 'type' = 'text'), %(characters_max)s) AS text
      FROM behind b JOIN messages m ON m.chat_id = b.id AND m.revision > b.since
     WHERE m.role IN ('user', 'assistant') AND m.visibility <> 'model' AND NOT m.deleted
), gathered AS (
    INSERT INTO message_words (message_id, chat_id, words)
    SELECT id, chat_id, to_tsvector('simple', text) FROM spoken WHERE text <> '' ORDER BY id
        ON CONFLICT (message_id) DO NOTHING
), noted AS (
    INSERT INTO chat_words AS w (chat_id, history_version)
    SELECT id, history_version FROM behind ORDER BY id
        ON CONFLICT (chat_id) DO UPDATE
       SET history_version = greatest(w.history_version, excluded.history_version)
)
SELECT count(*) FROM behind;

-- name: has_words
-- Whether there is anything in it to search for.
SELECT numnode(websearch_to_tsquery('simple', %(search)s)) > 0;
