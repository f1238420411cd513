/**
 * Policies that are written from the record, and the one under which to record (spec/propose.md).
 */
package dev.writ.replay.proposal;
