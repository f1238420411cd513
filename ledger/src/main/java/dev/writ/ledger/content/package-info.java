/**
 * Contents by their digest: in rows, in the home, or elsewhere, sealed or not (spec/storage.md).
 */
package dev.writ.ledger.content;
