/** Notices by mail. */
package dev.writ.sinks.mail;
