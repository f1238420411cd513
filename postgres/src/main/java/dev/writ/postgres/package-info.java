/** The rows of a ledger in PostgreSQL (spec/storage-postgres.md). */
package dev.writ.postgres;
