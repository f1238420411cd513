/**
 * Chains of signed receipts that other systems write: what they prove, and what they do not
 * (spec/peers.md).
 */
package dev.writ.replay.peer;
