/** The page of the console, its files, and signing in (spec/console.md). */
package dev.writ.console.web;
