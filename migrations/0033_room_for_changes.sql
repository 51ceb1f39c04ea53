-- 0033  Pages of items keep room for changes of their items.
--
-- Why       A change of what no index has (a title, a description) is written into the same page and no index, if the page
--           has room for the new version of the row. Otherwise it writes into another page and into seven indexes: beside
--           a million items it took 1.34 times what it takes beside a hundred (docs/decisions/0186).
-- Used by   every change of an item's row.
-- Locks     SHARE UPDATE EXCLUSIVE on item for a moment. Pages that are full stay so until their rows are changed.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      alter table item reset (fillfactor);

alter table item set (fillfactor = 90);
