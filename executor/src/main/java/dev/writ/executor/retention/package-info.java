/** Deletes contents as policy says, and tells deleted contents from lost ones. */
package dev.writ.executor.retention;
