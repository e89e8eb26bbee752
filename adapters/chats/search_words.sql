-- What is said, as words to search in. Messages of one chat are written under its lock, so what a
-- chat's words lack are the rows revised after the version that they were brought up to.

-- name: gather_words
-- Bring the words of the caller's roots, and of those that he may read, up to what is said; so many
-- messages at a time. Where a chat's are cut off, the next time begins behind the version of the last.
-- How many were behind: when it is less than asked for, all words are there. Two that gather the
-- same meet in ON CONFLICT.
WITH visible AS (
    SELECT c.id, c.history_version FROM chats c
     WHERE c.owner_id = %(caller)s AND c.parent_id IS NULL AND NOT (c.archived AND {being_erased})
     UNION
    SELECT c.id, c.history_version FROM chats c JOIN chat_readers r ON r.chat_id = c.id
     WHERE r.subject_id IN (%(caller)s::uuid, (SELECT organization_id FROM deployment))
       AND NOT (c.archived AND {being_erased})
), behind AS MATERIALIZED (
    SELECT m.id, m.chat_id, m.revision, v.history_version, m.content,
           m.role IN ('user', 'assistant') AND m.visibility <> 'model' AND NOT m.deleted AS spoken,
           row_number() OVER (PARTITION BY m.chat_id ORDER BY m.revision DESC) AS left
      FROM visible v
      LEFT JOIN chat_words w ON w.chat_id = v.id
      JOIN messages m ON m.chat_id = v.id AND m.revision > coalesce(w.history_version, 0)
     WHERE v.history_version > coalesce(w.history_version, 0)
     ORDER BY m.chat_id, m.revision
     FETCH FIRST %(messages_max)s ROWS WITH TIES -- what was written together stays together
), gathered AS (
    INSERT INTO message_words (message_id, chat_id, words)
    SELECT b.id, b.chat_id, to_tsvector('simple', left(t.text, %(characters_max)s))
      FROM behind b,
           LATERAL (SELECT string_agg(p ->> 'text', ' ') AS text
                      FROM json_array_elements(b.content) AS p
                     WHERE p ->> 'type' = 'text') AS t
     WHERE b.spoken AND t.text <> ''
     ORDER BY b.id
        ON CONFLICT (message_id) DO NOTHING
), noted AS (
    INSERT INTO chat_words AS w (chat_id, history_version)
    SELECT chat_id,
           CASE WHEN min(b.left) = 1 THEN max(history_version) ELSE max(revision) END
      FROM behind b
     GROUP BY chat_id
     ORDER BY chat_id
        ON CONFLICT (chat_id) DO UPDATE
       SET history_version = greatest(w.history_version, excluded.history_version)
)
SELECT count(*) FROM behind;

-- name: sort_in_words
-- New words wait in a list that every search would have to go through: put them into the index.
SELECT gin_clean_pending_list('message_words_words');

-- name: has_words
-- Whether there is anything in it to search for.
SELECT numnode(websearch_to_tsquery('simple', %(search)s)) > 0;

-- name: search_excerpts
-- Of each of these chats the newest message in which a search finds something, and the words around.
-- Only that one message of a chat is looked through once more.
SELECT found.chat_id, found.id,
       ts_headline('simple', left(t.text, %(characters_max)s),
                   websearch_to_tsquery('simple', %(search)s),
                   'StartSel="", StopSel="", MinWords=12, MaxWords=30, ShortWord=0')
  FROM (SELECT DISTINCT ON (w.chat_id) w.chat_id, m.id, m.content
          FROM message_words w
          JOIN messages m ON m.id = w.message_id AND NOT m.deleted
         WHERE w.chat_id = ANY(%(chats)s::uuid[])
           AND w.words @@ websearch_to_tsquery('simple', %(search)s)
         ORDER BY w.chat_id, m.id DESC) AS found,
       LATERAL (SELECT string_agg(p ->> 'text', ' ') AS text
                  FROM json_array_elements(found.content) AS p
                 WHERE p ->> 'type' = 'text') AS t;
