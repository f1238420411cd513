/** The fair queue and its slots (spec/scheduling.md). */
package dev.writ.gateway.schedule;
