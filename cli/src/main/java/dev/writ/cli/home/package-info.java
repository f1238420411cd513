/** What a server tells of the data directory that it has open, and of its sandbox. */
package dev.writ.cli.home;
