/** The form of rows: keys, packed documents, and the log's nodes (spec/storage.md). */
package dev.writ.ledger.form;
