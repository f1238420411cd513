/** The exercise of a new server before it says that it is ready (spec/gateway.md). */
package dev.writ.cli.warm;
