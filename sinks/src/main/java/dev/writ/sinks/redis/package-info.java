/** Records as entries of a Redis stream. */
package dev.writ.sinks.redis;
