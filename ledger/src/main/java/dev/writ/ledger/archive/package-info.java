/** Where bundles of closed runs are kept beside the ledger: a folder, or the prefix of a bucket. */
package dev.writ.ledger.archive;
