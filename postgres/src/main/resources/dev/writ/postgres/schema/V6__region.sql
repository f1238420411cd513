-- In which region each gateway stands (spec/cells.md, "Regions"); empty where its configuration names none.
ALTER TABLE gateway ADD COLUMN region text NOT NULL DEFAULT '';

CREATE OR REPLACE VIEW cells AS
  SELECT c.cell, convert_from(m.value, 'UTF8') AS origin, c.owner, c.epoch, c.size,
    l.address, l.until AS lease_until, l.observed, nullif(g.region, '') AS region
  FROM cell c LEFT JOIN meta m ON m.cell = c.cell AND m.key = 'origin'
    LEFT JOIN lease l ON l.cell = c.cell AND l.epoch = c.epoch
    LEFT JOIN gateway g ON g.address = l.address AND l.until > clock_timestamp();
