/** What the demo's server has its own tools reach: a page and a git repository on loopback. */
package dev.writ.cli.demo;
