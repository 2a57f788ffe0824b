 cut it into two equal pieces," said the owl. But one piece was too big, so the owl took a bite of that piece. Now the other piece was too
 the goose to the cricket.  There once lived in a village a young man. He had a wooden flute and took it everywhere. One day the man went into the garden
 looked under the stone and found it. The man thanked the cook and asked her to supper. He never lost it again.  Once there was a girl named Lucy who lived
 the evening the girl came back and looked at the foot of the oak, for there she had left the red purse. But the purse was gone. "Where is my
 was a bad joke," said Lucy, but she forgave the shepherd.  A young dog and a young mouse were walking together when they saw a loaf of bread in the grass.
 made one piece bigger than the other. Then he took a bite to make the two equal. Then the other was bigger, and the fox took a bite again. So
 and stopped. "How long will you wait for the fruit?" asked the girl. "Ten years," said Felix. "I will not live so long." "Then your work is for nothing," said
 blue plums. They were sweet, and she thought of Felix. The next day the girl planted a tree.  All summer long a busy mole named Tom carried food into his house.
 blue sky and did not believe him. Then winter came, and the snow lay deep on the fields. Rose looked for food, but she did not find a crumb. So
 together.  An old hare and a mouse found a fat fish on the road. "I saw it first," said the hare. "It is mine!" "But I was the one who picked
 a bite of that piece. Now the other piece was too big, and he took a bite of that one too. Bite by bite the fish became smaller, and at
 not rich, but he had enough to eat. One morning the man found a red hat by the well. Ben met a maid who had a bag of nuts. "I
 feathers for the nuts." Ben agreed, and now he had the feathers and the owl had the nuts. The man met a kind tailor who had five blue plums. "Give
 silver," said Ben.  A quick dog named Otto laughed at a patient tortoise because she was so slow. "Run a race with me," said the tortoise, "and then you may laugh."
 sat down under a tree. Soon he was asleep. The tortoise never rested. Step by step she came nearer, and she passed Otto in silence. In the evening Otto opened
 her and ran right over her nose. The cow woke up and caught him. "Please do not eat me!" said the mole. "I am small, but I never forget a
 and ran to help her. He bit through the knots one by one until she could stand up. "You laughed at me," said the mole. "Now you see that the
 can fill my hall for one small coin?" He promised a rich reward. A clever shepherd tried first. He bought feathers, and the wind blew the feathers away. Then came
 The girl ran home, and her family was never hungry again.  Every day a lazy boy named Hugo led some goats down to the lake and watched them there. The days
 came again and went home angry. But on the third day a wolf really came. The boy shouted as loudly as he could, but the shepherds did not believe him.
 only one could pass. "Go back and let me pass," said the owl. "I am older than you," said the donkey. "You must make room." The owl and the donkey
 Rose. One morning Rose found a golden cup by the well. On the road Rose saw an old donkey with a piece of cheese. "Give me your cheese," said the
 cheese." So the man got the cheese, and the woman went on with the shoes. The woman took the black shoes home and showed them to her friends. "I found
 them. When the fox woke up, he could not find the gloves. "Who has taken my gloves?" he cried. A little goose came and said, "The magpie took them. Look
 could have asked me," said the fox, and he took the gloves home. And the fox thanked the goose with a good supper.  In spring an old man named Will dug
 ate from trees that I did not plant," said the man. "This one is yours." The man died in the winter, but the tree lived and grew. Ten years later
 dinner. On the table stood a flat plate of soup. The crane had a long beak, and he could not eat a drop, while the cat ate everything. "Do you
 lay at the bottom. The crane put his long beak in and ate, but the cat could only lick the outside of the jar. "Do you not like my fish?"
 she asked the people. She promised a rich reward. First came a clever king. He bought straw, but the straw covered only the floor. Then came a poor boy named
 the king, "but the boy is wiser."  An old man was planting a small tree by the road. A little girl came by and stopped. "How long will you wait for
 by, and the man died. The tree grew tall. Ten years later the girl sat in the shade of the tree and ate three red apples. She thought of the
 frog. "Come and sing with me!" "Winter will come," said the ant, "and I want to have food in my house." The frog looked at the blue sky and did
 "You sang all summer," said the ant. "Now you can dance all winter." And the ant shut the door.  There once lived in a tall tower an old queen named Anna.
 golden turtle was in the net. "Let me go," said the turtle, "and I will help you." The queen opened the net, and the turtle swam away. The next morning
 and laughed. "I may be slow," said Ella, "but I can beat you in a race." They agreed to run to the mill, and a rooster was to be the
 not stop. She walked past the hare without a sound. When the hare woke up, he ran as fast as he could, but he came too late. The tortoise was
 a flat plate. Lucy ate quickly, but Hugo could only wet his long beak. "What a pity that you are not hungry," said Lucy. "You have been so kind," said
 eat. "What a pity that you are not hungry," said the crane. Those who play tricks must not complain of tricks.  Long ago an old woman lived on a farm. She
 mirror." The woman agreed, and now she had the plums and the shepherd had the mirror. The woman met a tailor who had a pair of white gloves. "I like
 "and now I have the gloves."  Once there was a clever princess who lived in a white palace. One winter she fell ill, and no doctor could help her. "Only the
 but he did not turn back. He found the flower at the foot of an oak and carried his treasure home. The princess drank, and slowly her face turned red
 his mother stood two blue plates. One day the boy was playing with a ball and broke the blue plates. "Who has broken my plates?" asked his mother. "The cook
 broke the plates." "Say that to the cook," said his mother, and the boy told the cook everything. From that day on the boy did not play inside.  Once there was
 my ball." So the cat got the ball, and the woman went on with the cake. On the road the woman saw a sailor with a silver flute. "I like
 woman, "and you shall have my flute." So the fox got the flute, and the woman went on with the cheese. In the evening she sat under a tree and
 forgot the way. Night fell, and she could not find the path. She heard steps. Between the trees stood an old hare named Will. "Do not be afraid of me,"
 grass. In the morning they reached the house, and there stood her father. Her father took the princess into his arms. Her father gave Will a big supper, and the
 the fox. "You must make room." The goat and the fox put down their heads and ran at each other. Both fell into the cold water. Peter lost his pride
 of an oak. Then a young tailor came along and saw the bell. "I will play a trick on the woman," said the tailor to himself, and he hid it
 tears and was sorry. "Look under the stone," said the tailor. "I put the bell there." Greta looked under the stone, and there was the bell. "That was a bad
 to catch them. But in the net there was only a golden turtle. "Please do not eat me," begged the turtle. "Put me back, and you shall have a wish."
 sisters again.  A proud dog met a slow tortoise on the road. "Do you ever get anywhere?" he asked and laughed. "Run a race with me," said the tortoise, "and then
 time for a little sleep," he said to himself, and he lay down in the grass. The tortoise never rested. Step by step she came nearer, and she passed the
 go on."  A hedgehog and a mouse found a piece of cheese on the road. "It belongs to me," said the hedgehog, "because I saw it first." "No, I picked it
 bite to make the two equal. Then the other was bigger, and the fox took a bite again. Bite by bite the cheese became smaller, and at last it was
 the queen, had a blue jar and loved it dearly. One day the prince was playing with a ball and broke the blue jar. "Who has broken my jar?" asked
 is worth more than the jar." Otto never forgot that day.  All summer long a careful ant carried food into her house. A lazy cricket named Hugo lived next door. He
 sky and did not believe her. Soon the leaves fell, the wind grew cold, and the snow came. The cricket looked for food, but he did not find a crumb.
 sang together.  Long ago a kind man named Felix lived in a village. He was not rich, but he had enough to eat. He had a wooden flute and took it
 "Look behind the door," said Lucy. "I saw it there this morning." Felix ran down to the river and looked behind the door, and there was the flute. "Thank you!"
 for one small coin?" He promised a rich reward. A clever queen tried first. She bought feathers, and the wind blew the feathers away. At last a little boy named
 own hands. Will ran home, and his family was never hungry again.  There once lived in a tall tower a king. He ruled the whole land, and the people loved him.
 to the river for you," said the owl. The wind was cold, but she did not turn back. She found the flower in the hay and carried her treasure home.
 named Will lived at the edge of the forest. One winter he fell ill, and no doctor could help him. "Only the blue flower can make you well," said the
 she saw the flower under the bridge and took the flower home. Will drank the tea, and the next morning he could stand up. "How can I thank you?" asked
 greatest treasure. One morning the farmer went into the forest and lost it. He looked under a bench, but the bell was not there. The next day a weaver named
 weaver, and she gave it to the farmer. The farmer thanked her and asked her to supper. They stayed friends for the rest of their lives.  Once there was an old
 the rooster looked under the old cart, but the mirror was gone. "My mirror is gone!" he cried. A wise frog came and said, "The magpie took it. Look under
 me," said the rooster, and he took the mirror home. The frog got the best piece of the rooster's supper that day.  A fox and a squirrel were walking together when
 the judge. "I will cut it into two equal pieces," said the monkey. But one piece was too big, so the monkey took a bite of that piece. Now the
 and did not quarrel.  Long ago a squirrel lived in the forest. She was proud of her warm bed of straw. She owned a leather purse and hid it behind the
 hare had seen everything. "The cat has it," said the hare. "She hid it at the foot of an oak." So the squirrel looked at the foot of the oak,
 hare got the best piece of the squirrel's supper that day.  Long ago a clever hare lived by the lake. The other animals liked him well. He had a silver ring,
 mole had seen everything. "The magpie has it," said the mole. "She hid it under an old cart." So the hare looked under the old cart, and there was the
 of the hare's supper that day.  One day a merry fox named Felix asked a polite stork to dinner. He served the soup on a flat plate. The stork had a
 came to the house of the stork, and he was very hungry. The stork served the fish in a tall jar with a narrow neck. Felix could not reach the
 thin fox came by and looked up, for he had eaten nothing all day. "How beautiful you are!" said the fox. "Your wings shine like the night." He came nearer.
 "Your voice is good," said the fox, "but your head is not." The crow stayed in the tree. She was hungry, but she was wiser.  Once there was a young king
 woman. "I have lost my hat," said the king. "Look in a hollow tree," said the woman. "I saw it there this morning." The king looked in the hollow tree
 he shouted, "Help! A wolf is eating my sheep!" The neighbors dropped their work and ran across the meadow, but they saw no wolf. The boy thought that was funny
 ran away in all directions. The boy looked for them all night long. "I will never lie again," said the boy to the neighbors.  Once upon a time a poor woman
 that the hen was made of gold, and so Ida took a knife and killed the hen. Ida looked for the gold, but there was none. Now Ida had no
 flower grew only on the hill, far away. Nobody dared to go. At last a brave hedgehog named Felix said, "I will bring the flower." The hedgehog walked for three
 In spring the princess and Felix planted blue flowers in their garden.  Long ago a clever queen named Rose lived in a castle on a hill. She had an old lamp,
 "I have lost my lamp," said the queen. "Let me look for it with you," said the hare. They went down to the river together, and the hare found the
 woman named Rose. One morning Rose found a blue scarf by the well. Rose met an old fox who had a little cake. "Give me your cake," said the woman,
 for it." The woman agreed, and now she had the red boots and the dog had the cake. Then the woman came to a clever miller, and he had a
 is worth more than silver," said the woman.  There once lived on a hill a dog named Hans. He knew every path and every tree. He owned an iron key and
 it," said the fox. "She hid it behind the door." Hans went there, and behind the door he found the key. Just then the magpie came back and stood still.
 old man named Hans who lived in a village. One day he found a golden cup on the road. Then Hans came to a woman, and she had two ripe
 me your gloves," said the man, "and you shall have my pears." So the weaver got the pears, and the man went on with the gloves. Then the man came
 ate the red apples. Then he had nothing again, but he was happy.  Once upon a time a boy named Hugo lived in a village. He was small, but he was
 you crying?" asked the weaver. "I have lost my ball," said Hugo. "Look under a stone," said the weaver. "I saw it there this morning." The boy ran to the
 One day she went to the sea and dropped three silver coins into the water. She threw out a net to catch them. When the woman pulled up the net,
 "You gave me my life," said the trout, "so I give you your coins." A kind heart is never poor.  A narrow bridge led over the stream, and there a strong
 will both fall," she said. "I will lie down, and you can step over me." The rooster stepped over the hen with great care and thanked her. They reached the
