/** An installation on disk: made, opened, wired with drivers and sandbox. */
package dev.writ.cli.home;
