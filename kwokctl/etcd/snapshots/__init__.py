"""etcd snapshot files, and the database files that they hold."""
