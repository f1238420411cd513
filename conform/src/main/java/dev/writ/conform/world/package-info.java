/** Scenarios: an installation that a vector drives step by step. */
package dev.writ.conform.world;
