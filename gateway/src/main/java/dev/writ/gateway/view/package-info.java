/**
 * Effects as people look at them: one row or one whole story for each request, read from a ledger.
 * Knows no HTTP and reads no clock, so that commands show the same.
 */
package dev.writ.gateway.view;
