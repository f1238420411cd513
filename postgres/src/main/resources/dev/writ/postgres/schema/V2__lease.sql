-- Who may act for a cell, and until when by this database's clock (spec/cells.md). It lies beside
-- the cell, whose row writes change all the time. A cell without a row has no owner for a time.
CREATE TABLE lease (
  cell integer PRIMARY KEY REFERENCES cell ON DELETE CASCADE,
  epoch bigint NOT NULL,
  owner text NOT NULL,
  address text NOT NULL,
  until timestamptz NOT NULL
);

CREATE OR REPLACE VIEW cells AS
  SELECT c.cell, convert_from(m.value, 'UTF8') AS origin, c.owner, c.epoch, c.size,
    l.address, l.until AS lease_until
  FROM cell c LEFT JOIN meta m ON m.cell = c.cell AND m.key = 'origin'
    LEFT JOIN lease l ON l.cell = c.cell AND l.epoch = c.epoch;
