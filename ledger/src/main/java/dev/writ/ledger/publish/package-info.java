/** Where checkpoints are published for everybody to read (spec/witness.md, "Publishing"). */
package dev.writ.ledger.publish;
