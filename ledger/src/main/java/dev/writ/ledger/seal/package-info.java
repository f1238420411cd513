/** Contents under keys that can be destroyed: the keys, and the form of what they seal. */
package dev.writ.ledger.seal;
