-- Each row is rewritten at least twice, when its task is granted and when it is completed, and tasks that were created
-- together are granted together: with room for a second version of every row in its page, none of that touches an
-- index. With 70, more than half of the rows of a page found no room there.
ALTER TABLE task_state SET (fillfactor = 50);
