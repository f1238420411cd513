/**
 * One append-only log: commits in groups, the anchor, deletion, copies, and moves to another
 * database or another place of contents (spec/log.md, spec/storage.md).
 */
package dev.writ.ledger;
