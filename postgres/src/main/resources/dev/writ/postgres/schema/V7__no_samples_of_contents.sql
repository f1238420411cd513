-- ANALYZE keeps samples of a column's values, where contents that are deleted from the table stay.
ALTER TABLE blob ALTER COLUMN value SET STATISTICS 0;

-- A column that is given its type, though it is the same one, loses the samples that it has. No row is rewritten.
ALTER TABLE blob ALTER COLUMN value TYPE bytea;
