"""Takes commands over HTTP, makes events of them, and answers once Kafka has them."""
