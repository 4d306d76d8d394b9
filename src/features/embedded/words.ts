/**
 * The words of free-text values. The lists are short and shared by all forms, as a tokenizer of about a thousand
 * entries has to cover them. No word here is an option of a select or a radio group, so that a value alone tells
 * whether a field is typed in or chosen.
 */

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const GIVEN_NAMES = list(`
  Nora Liam Maya Omar Ines Theo Ruth Hugo Lena Ivan Aisha Paul Greta Samir Clara Felix Yuki Marco Elsa Tariq Anna Bruno
  Dina Erik Fatima Jonas Kira Leo Mina Noah Olga Pedro Rosa Simon Tara Victor Wanda Zoe Amir Bella Carl Edith Hanna Jack
  Luis Mara Nils Petra`);

export const FAMILY_NAMES = list(`
  Keller Novak Rossi Tanaka Silva Haddad Larsen Weber Moreau Kowal Ahmed Brandt Costa Dubois Eriksen Fischer Garcia
  Hansen Ito Jensen Khan Lopez Meyer Nakano Olsen Quinn Ramos Sato Torres Ueda Vogel Walker Yilmaz Zimmer Adler Bauer
  Cohen Diaz Farah Gupta Hoffman Iqbal Joshi Klein Lind Marin Nagy Okoye`);

export const CITIES = list(`
  Lisbon Oslo Turin Ghent Porto Lyon Bern Graz Malmo Riga Cork Leeds Bristol Tallinn Vienna Prague Krakow Sofia Athens
  Naples Seville Bergen Aarhus Basel Bruges Dresden Genoa Geneva Granada Kyoto Lima Quito Osaka Perth Boston Denver
  Austin Dallas Tampa Dublin`);

export const STREET_NAMES = list(`
  Mill Oak Elm Bridge River Hill Lake Maple Cedar Station Castle King Queen Abbey Willow Birch Chapel Tower Meadow
  Orchard Quarry Linden Harbor Canal`);

export const STREET_ENDINGS = list("Road Street Lane Avenue");

export const ADJECTIVES = list(`
  Green Red Blue Silver Golden Quiet Wild Old New Lost Bright Dark Happy Brave Lucky Hidden Frozen Gentle Rapid Secret
  Tiny Giant Sunny Royal`);

export const NOUNS = list(`
  Lamp River Tiger Falcon Comet Lantern Mountain Ocean Arrow Anchor Badger Basket Candle Copper Crown Dragon Eagle Ember
  Feather Fox Galaxy Hammer Island Jacket Kettle Ladder Marble Mirror Needle Otter Panda Pebble Pepper Pirate Planet
  Rocket Saddle Shadow Spark Star Storm Sparrow Thunder Tunnel Turtle Valley Wagon Wolf`);

export const TRADES = list("Foods Works Media Supply Design Logistics");

export const MAIL_HOSTS = list("mail.org post.net home.com");
