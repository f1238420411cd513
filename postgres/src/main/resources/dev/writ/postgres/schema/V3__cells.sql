-- An installation of several cells (spec/cells.md): how much of the system run a cell's owner has, and
-- which gateways live, also those that own nothing.
ALTER TABLE lease ADD COLUMN observed bigint NOT NULL DEFAULT 0;

CREATE TABLE gateway (address text PRIMARY KEY, until timestamptz NOT NULL);

CREATE OR REPLACE VIEW cells AS
  SELECT c.cell, convert_from(m.value, 'UTF8') AS origin, c.owner, c.epoch, c.size,
    l.address, l.until AS lease_until, l.observed
  FROM cell c LEFT JOIN meta m ON m.cell = c.cell AND m.key = 'origin'
    LEFT JOIN lease l ON l.cell = c.cell AND l.epoch = c.epoch;
