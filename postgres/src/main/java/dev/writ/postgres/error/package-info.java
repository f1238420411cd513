/** What the storage in PostgreSQL refuses, with stable codes. */
package dev.writ.postgres.error;
