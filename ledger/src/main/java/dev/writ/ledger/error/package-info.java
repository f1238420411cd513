/** Error codes of the ledger (LED). */
package dev.writ.ledger.error;
