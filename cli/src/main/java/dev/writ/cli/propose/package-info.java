/** Policies that are proposed from what a ledger saw. */
package dev.writ.cli.propose;
