/** Sends what the tool gateway did and denied to other systems (spec/sinks.md). */
package dev.writ.sinks;
