/** What sinks refuse, with stable codes. */
package dev.writ.sinks.error;
